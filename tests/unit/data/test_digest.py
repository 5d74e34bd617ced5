from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.digest import arrays_digest, data_digest, texts_digest
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences

DENSE = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])


def documents() -> Samples:
    return Samples(as_counts(DENSE), encode_labels(["a", -1, "b"]), feature_names=("x", "y"))


def test_the_digest_is_the_same_on_every_machine() -> None:
    assert data_digest(documents()) == "sha256:65729ab9d3bbc4e27fd71f3b81f8362d16c9a6259fdd15f27147807701ee1219"
    assert (
        data_digest(Samples(DENSE, encode_labels([0, -1, 1])))
        == "sha256:86b752706e38309225cb15467652efc41dd5f2a645a2e1b85b02e87165b9b2e9"
    )


def test_the_width_of_indices_and_spelled_out_weights_do_not_count() -> None:
    samples = documents()
    counts = samples.counts
    parts = (counts.data, counts.indices.astype(np.int64), counts.indptr.astype(np.int64))
    wide = replace(samples, features=sp.csr_array(parts, shape=counts.shape), weights=np.ones(3))
    assert data_digest(wide) == data_digest(samples)


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
    assert len({data_digest(variant) for variant in variants}) == len(variants)


def test_sequences_are_told_apart_by_all_that_is_known_of_them() -> None:
    two = Sequences(np.array([0, 1, 0]), np.array([0, 2, 3]), encode_labels(["a", -1, "b"]), ("x", "y"))
    sets = [Evidence(np.array([0, -2, 1]), ("a", "b"), np.array([[0.5, share]])) for share in (0.5, 0.4)]
    variants = [
        two,
        replace(two, offsets=np.array([0, 1, 3])),
        replace(two, features=np.array([0, 1, 1])),
        replace(two, features=two.attributes),
        replace(two, weights=np.array([1.0, 2.0])),
        replace(two, feature_names=("x", "z")),
        *(replace(two, evidence=evidence) for evidence in sets),
    ]
    assert len({data_digest(variant) for variant in variants}) == len(variants)
    assert data_digest(replace(two, weights=np.ones(2))) == data_digest(two)


def test_arrays_are_told_apart_by_names_and_content() -> None:
    tables = [{"a": np.zeros(2)}, {"b": np.zeros(2)}, {"a": np.zeros((2, 1))}, {"a": np.zeros(1), "b": np.zeros(1)}]
    assert len({arrays_digest(arrays) for arrays in tables}) == len(tables)


def test_texts_are_told_apart_by_text_and_label_but_not_by_source() -> None:
    raws = [
        RawTexts(("ab", "c"), ("x", None), "here"),
        RawTexts(("a", "bc"), ("x", None), "here"),
        RawTexts(("ab", "c"), (None, "x"), "here"),
        RawTexts(("ab", "c"), ("x", ["x", "y"]), "here"),
    ]
    assert len({texts_digest(raw) for raw in raws}) == len(raws)
    assert texts_digest(replace(raws[0], source="there")) == texts_digest(raws[0])
