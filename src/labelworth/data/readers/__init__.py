"""Readers: files as people have them become texts or features, with a label, a candidate set or nothing per row."""

from labelworth.data.readers.cells import NOT_NAMED as NOT_NAMED
from labelworth.data.readers.choose import read as read
from labelworth.data.readers.choose import read_sequences as read_sequences
from labelworth.data.readers.raw import RawFeatures as RawFeatures
from labelworth.data.readers.raw import RawTexts as RawTexts
