"""The command line of the laboratory: `labelworth-studies reproduce` and `labelworth-studies bench`.

`labelworth reproduce` and `labelworth bench` are doors to the same commands.
"""

from labelworth.cli.application import add_command, application
from labelworth_studies.commands.bench import bench
from labelworth_studies.commands.reproduce import reproduce

app = application("labelworth-studies", help="The studies that earn labelworth's claims, and its benchmarks.")
for _command in (reproduce, bench):
    add_command(app, _command)
