"""Campaigns: who is asked what and why, what they say, and what that buys; see `campaign.Campaign`."""

from importlib.util import find_spec

if find_spec("sqlalchemy") is None:
    raise ImportError("Campaigns need SQLAlchemy: pip install 'labelworth[campaign]'.")
