"""Rules and policies as text: ``0.25*everything + 0.75*window:5``."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from labelworth.arrays import as_floats
from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import EveryOther, Everything, Nothing, Prefix, PrefixShare, RandomTokens, Window
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule

_WITHOUT_NUMBER: dict[str, Rule] = {"everything": Everything(), "nothing": Nothing(), "every-other": EveryOther()}
_WITH_NUMBER = ("prefix", "window", "random")
RULES = "everything, nothing, prefix:3, prefix:0.5, window:5, every-other, random:0.3"
"""How rules are written, for messages."""

_MOST_DIGITS = 50
_MOST_EXPONENT_DIGITS = 4

# A plus behind an exponent, as in 1e+3, belongs to its number.
_BETWEEN_TERMS = re.compile(r"(?<![\d.][eE])\+")


def parse_rule(text: Any, *, own: Mapping[str, Callable[[int], Any]] | None = None) -> Rule:
    """Read a rule.

    Parameters
    ----------
    text : str
        ``everything``, ``nothing``, ``prefix:3``, ``prefix:0.5``, ``window:5``, ``every-other``, ``random:0.3``, or
        a name in `own`.
    own : mapping, optional
        Rules of your own by name: functions of the length, as in `FunctionRule`.

    Raises
    ------
    InvalidInputError
        If there is no such rule, or its number is not one.

    Examples
    --------
    >>> parse_rule("prefix:0.5")
    PrefixShare(share=Fraction(1, 2))
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"A rule is written as text: {RULES}. Got {text!r} instead.")
    name, colon, number = (part.strip() for part in text.partition(":"))
    if own and name in own and not colon:
        if name in _WITHOUT_NUMBER or name in _WITH_NUMBER:
            raise InvalidInputError(f"{name!r} is a rule of the house; call yours something else.")
        return FunctionRule(name, own[name])
    if name in _WITHOUT_NUMBER and not colon:
        return _WITHOUT_NUMBER[name]
    if name in _WITH_NUMBER and number:
        return _with_number(name, number, text)
    raise _unknown(text, name, own or {})


def parse_policy(text: Any, *, own: Mapping[str, Callable[[int], Any]] | None = None) -> Policy:
    """Read a policy: a rule alone, or weights times rules that sum to one.

    Raises
    ------
    InvalidInputError
        If a term is not ``weight*rule``, a rule is unknown, or the weights do not sum to one.

    Examples
    --------
    >>> parse_policy("0.25*everything+0.75*window:5").spec
    '0.25*everything + 0.75*window:5'
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError(f"A policy is written as 0.25*everything + 0.75*window:5. Got {text!r} instead.")
    terms = _BETWEEN_TERMS.split(text)
    if len(terms) == 1 and "*" not in text:
        return Policy.of(parse_rule(text, own=own))
    rules, weights = [], []
    for term in terms:
        weight, star, rule = term.partition("*")
        if not star:
            raise InvalidInputError(
                f"Every rule of a mixture needs its weight, as in 0.25*everything + 0.75*window:5. "
                f"Got {term.strip()!r} in {text!r}."
            )
        weights.append(_number(weight.strip(), f"The weight in {term.strip()!r}"))
        rules.append(parse_rule(rule, own=own))
    return Policy(tuple(rules), tuple(weights))


def read_rules(rules: Sequence[Rule | str]) -> list[Rule]:
    """Rules, or their text."""
    if isinstance(rules, str) or not len(rules):
        raise InvalidInputError(f"rules must be a list such as ['everything', 'window:5']. Got {rules!r} instead.")
    return [rule if isinstance(rule, Rule) else parse_rule(rule) for rule in rules]


def read_policies(policies: Sequence[Policy | str | Sequence[float]], rules: list[Rule] | None) -> list[Policy]:
    """Policies, their text, or one weight for each of `rules`."""
    if isinstance(policies, str | Policy) or not len(policies):
        raise InvalidInputError(
            "policies must be a list of policies, of texts such as '0.25*everything + 0.75*window:5', or of weights, "
            f"one for each of the rules. Got {policies!r} instead."
        )
    return [_read_policy(policy, rules) for policy in policies]


def _read_policy(policy: Policy | str | Sequence[float], rules: list[Rule] | None) -> Policy:
    if isinstance(policy, str):
        policy = parse_policy(policy)
    if isinstance(policy, Policy):
        if rules is not None:
            policy.weights_over(rules)
        return policy
    if rules is None:
        raise InvalidInputError(f"Weights need rules= to belong to. Got the policy {policy!r} and no rules.")
    weights = as_floats("The weights of a policy", policy, ndim=1)
    if len(weights) != len(rules):
        raise InvalidInputError(
            f"A policy has one weight for each of the {len(rules)} rules. Got {len(weights)} weight(s)."
        )
    return Policy(tuple(rules), tuple(weights.tolist()))


def _with_number(name: str, number: str, text: str) -> Rule:
    if name == "window":
        return Window(_count(number, text))
    if name == "random":
        return RandomTokens(_number(number, f"The number in {_shown(text)}"))
    if re.fullmatch(r"\+?[0-9]+", number):
        return Prefix(_count(number, text))
    try:
        share = _fraction(number)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInputError(
            f"A prefix is a number of positions or a share of them, as in prefix:3 or prefix:0.5. Got {_shown(text)}."
        ) from error
    return PrefixShare(share)


def _count(number: str, text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", number):
        raise InvalidInputError(
            f"The number in {_shown(text)} must be a whole number of positions, of at most 18 digits."
        )
    return int(number)


def _fraction(number: str) -> Fraction:
    """A number without the underscores that Python allows within one: 1_0 is rather a slip than ten.

    An exact fraction of 1e999999999 would be written out, digit by digit.
    """
    exponent = re.search(r"[eE]([+-]?[0-9]+)$", number)
    if "_" in number or len(number) > _MOST_DIGITS or (exponent and len(exponent[1]) > _MOST_EXPONENT_DIGITS):
        raise ValueError(number)
    return Fraction(number)


def _shown(text: str) -> str:
    """In quotes, and cut where it is long."""
    return repr(text if len(text) <= _MOST_DIGITS else f"{text[:_MOST_DIGITS]}...")


def _number(number: str, name: str) -> float:
    try:
        return float(_fraction(number))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be a number such as 0.25. Got {_shown(number)} instead.") from error


def _unknown(text: str, name: str, own: Mapping[str, Any]) -> InvalidInputError:
    if name in _WITH_NUMBER:
        return InvalidInputError(f"{name} needs a number behind a colon. Got {text!r}; rules are: {RULES}.")
    if name in _WITHOUT_NUMBER:
        return InvalidInputError(f"{name} takes no number. Got {text!r} instead.")
    near = difflib.get_close_matches(name.replace("_", "-"), [*_WITHOUT_NUMBER, *_WITH_NUMBER, *own], n=1)
    cure = f"Did you mean {near[0]!r}? " if near else ""
    mine = f"; yours: {', '.join(own)}" if own else ""
    return InvalidInputError(f"There is no rule {text!r}. {cure}Rules are: {RULES}{mine}.")
