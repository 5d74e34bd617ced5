from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.digest import samples_digest, texts_digest
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples

DENSE = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])


def documents() -> Samples:
    return Samples(as_counts(DENSE), encode_labels(["a", -1, "b"]), feature_names=("x", "y"))


def test_the_digest_is_the_same_on_every_machine() -> None:
    assert samples_digest(documents()) == "sha256:02c8f53d25052386103ee1ae92876ca0f2bb98772c07a6d2552fb1522dd2b5e7"
    assert (
        samples_digest(Samples(DENSE, encode_labels([0, -1, 1])))
        == "sha256:0202d2334c0be204b9fe4d5e23e498d88bc5c2fffd30ebb4bef20890242626de"
    )


def test_the_width_of_indices_and_spelled_out_weights_do_not_count() -> None:
    samples = documents()
    counts = samples.counts
    parts = (counts.data, counts.indices.astype(np.int64), counts.indptr.astype(np.int64))
    wide = replace(samples, features=sp.csr_array(parts, shape=counts.shape), weights=np.ones(3))
    assert samples_digest(wide) == samples_digest(samples)


def test_every_part_counts() -> None:
    samples = documents()
    variants = [
        samples,
        samples.take(np.array([1, 0, 2])),
        samples.hide(),
        samples.weighted(np.array([1.0, 1.0, 2.0])),
        replace(samples, feature_names=None),
        replace(samples, feature_names=("xy", "")),
        replace(samples, features=as_counts(DENSE * 2)),
        replace(samples, features=DENSE),
        replace(samples, features=sp.csr_array((3, 2))),
        replace(samples, evidence=encode_labels(["a", -1, "c"])),
        replace(samples, evidence=encode_labels([0, -1, 1])),
        replace(samples, evidence=encode_labels(["0", -1, "1"])),
        replace(samples, evidence=Evidence(np.array([0, -2, 1]), ("a", "b"), np.array([[0.5, 0.5]]))),
        replace(samples, evidence=Evidence(np.array([0, -2, 1]), ("a", "b"), np.array([[0.5, 0.4]]))),
    ]
    assert len({samples_digest(variant) for variant in variants}) == len(variants)


def test_texts_are_told_apart_by_text_and_label_but_not_by_source() -> None:
    raws = [
        RawTexts(("ab", "c"), ("x", None), "here"),
        RawTexts(("a", "bc"), ("x", None), "here"),
        RawTexts(("ab", "c"), (None, "x"), "here"),
        RawTexts(("ab", "c"), ("x", ["x", "y"]), "here"),
    ]
    assert len({texts_digest(raw) for raw in raws}) == len(raws)
    assert texts_digest(replace(raws[0], source="there")) == texts_digest(raws[0])
