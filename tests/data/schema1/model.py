"""A model with errors, for run directories that were recorded by an earlier c2s (commit eaca22a).

Its answers follow from the slot alone: 6 % of calls end in an error, 3 % give a malformed response, the rest are right three times out of four.
"""

import hashlib

from c2s.backends.base import Exchange

uses_truth = True


def answer(call):
    slot = call.slot
    key = f"{slot.panel}/{slot.parent}/{slot.arm}/{slot.replicate}/{slot.step}"
    draw = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32
    if "dialogue" in slot.panel or "judge" in slot.panel:
        error, malformed = 0.02, 0.03
    else:
        error, malformed = 0.06, 0.09
    if draw < error:
        return Exchange("error", None, message="the model of this test failed here")
    if draw < malformed:
        return Exchange("ok", b'{"model": "script", "answers": ')
    choices = {}
    for name, question in call.ask.request.questions.items():
        options = list(question.options)
        right = call.ask.truth[name]
        choices[name] = right if draw > 0.25 or len(options) == 1 else next(option for option in options if option != right)
    return choices
