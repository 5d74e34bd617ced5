"""The command line of the laboratory: `labelworth-studies reproduce`, `bench` and `data`.

`labelworth reproduce`, `labelworth bench` and `labelworth data` are doors to the same commands.
"""

from labelworth.cli.application import add_command, application
from labelworth_studies.commands import data
from labelworth_studies.commands.bench import bench
from labelworth_studies.commands.reproduce import reproduce

app = application("labelworth-studies", help="The studies that earn labelworth's claims, and its benchmarks.")
for _command in (reproduce, bench):
    add_command(app, _command)
app.add_typer(data.app)
