"""The commands of `labelworth campaign`."""

from labelworth.cli.application import add_command, application
from labelworth.cli.campaigns.asking import answer, assign
from labelworth.cli.campaigns.making import add, new, people
from labelworth.cli.campaigns.telling import export, plan, status

app = application("campaign", help="Labels that people make together: who is asked what, and what they say.")
for _command in (new, add, people, assign, answer, status, plan, export):
    add_command(app, _command)
