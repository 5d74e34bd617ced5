"""Counts chunks by walking from token to token, by the rules of the Perl script conlleval of the CoNLL shared tasks.

Written from the script's rules, token by token and with strings; shares nothing with the code it is compared with.
"""

from collections import Counter
from collections.abc import Sequence


def split(tag: str) -> tuple[str, str]:
    letter, _, kind = tag.partition("-")
    return letter, "" if kind == "0" else kind


def ends(previous: tuple[str, str], following: tuple[str, str]) -> bool:
    (one, kind), (two, next_kind) = previous, following
    listed = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
    return one + two in listed or (one not in ("O", ".") and kind != next_kind) or one in ("[", "]")


def begins(previous: tuple[str, str], following: tuple[str, str]) -> bool:
    (one, kind), (two, next_kind) = previous, following
    listed = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
    return one + two in listed or (two not in ("O", ".") and kind != next_kind) or two in ("[", "]")


def walk(sentences: Sequence[Sequence[tuple[str, str]]]) -> tuple[Counter, Counter, Counter, int]:
    """How many chunks of each type there are, were found, and are right; and how many tokens are right.

    Parameters
    ----------
    sentences : lists of (true tag, predicted tag)
    """
    there, found, right, n_right = Counter(), Counter(), Counter(), 0
    inside = False
    last_true = last_found = ("O", "")
    boundary = ("O", "")
    stream: list[tuple[tuple[str, str], tuple[str, str], bool]] = []
    for sentence in sentences:
        stream += [(split(one), split(two), True) for one, two in sentence]
        stream.append((boundary, boundary, False))
    for now_true, now_found, is_token in stream:
        true_ends, found_ends = ends(last_true, now_true), ends(last_found, now_found)
        if inside:
            if true_ends and found_ends and last_true[1] == last_found[1]:
                inside = False
                right[last_true[1]] += 1
            elif true_ends != found_ends or now_true[1] != now_found[1]:
                inside = False
        true_begins, found_begins = begins(last_true, now_true), begins(last_found, now_found)
        if true_begins and found_begins and now_true[1] == now_found[1]:
            inside = True
        there[now_true[1]] += true_begins
        found[now_found[1]] += found_begins
        n_right += is_token and now_true == now_found
        last_true, last_found = now_true, now_found
    if inside:
        right[last_true[1]] += 1
    return +there, +found, +right, n_right
