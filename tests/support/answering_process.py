"""A process in which threads answer for people as fast as they can, and say on stdout what was acknowledged.

`python answering_process.py WHERE SEED NAME ...`: one thread per name. A line is written and flushed when an answer
was acknowledged: whoever reads it was told. Keys are made of the annotator and the request, and some are sent twice.
"""

import random
import sys
import threading
import time

from labelworth.campaign.campaign import Campaign
from labelworth.errors import NotWantedError, StoreUnavailableError

_TELLING = threading.Lock()


def answer_for(campaign: Campaign, name: str, rng: random.Random) -> None:
    """Take tasks, answer, take some answers back, until nothing is left."""
    person = campaign.person(name)
    idle = 0
    while idle < 50:
        try:
            tasks = campaign.lease(person, n=rng.choice([1, 3]))
            idle = 0 if tasks else idle + 1
            if not tasks:
                time.sleep(0.02)
            for task in tasks:
                key, said = f"{name}-{task.request.id}-{rng.getrandbits(64):x}", rng.choice(["ham", "spam", None])
                for _ in range(rng.choice([1, 1, 2])):
                    done = campaign.answer(person, task.request.id, said, key=key, seconds=1.0)
                tell("answer", done.answer_id, name, task.request.id, key, said)
                if rng.random() < 0.05:
                    back = f"{key}-undo"
                    undone = campaign.undo(person, key=back, answer=done.answer_id)
                    tell("undo", undone.answer_id, name, task.request.id, back, done.answer_id)
        except (NotWantedError, StoreUnavailableError):
            continue


def tell(*words: object) -> None:
    with _TELLING:
        sys.stdout.write("\t".join(map(str, words)) + "\n")
        sys.stdout.flush()


def main() -> None:
    where, seed, *names = sys.argv[1:]
    campaign = Campaign.open(where)
    threads = [
        threading.Thread(target=answer_for, args=(campaign, name, random.Random(f"{seed}{name}")), daemon=True)
        for name in names
    ]
    tell("ready")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
