"""The independent lexical cohort: targets that the natural bank does not use, for the confidence study (paper 3.2, A.3, D.15).

Quotas by length are the paper's, which followed from the vocabulary. The file has the bank's format with fewer facts;
`c2s.bankbuild.cohort_build` makes it.
"""

from __future__ import annotations

from pathlib import Path

from c2s.banks.datafile import SHIPPED
from c2s.banks.natural import Bank, load_bank

QUOTAS = {3: 61, 4: 315, 5: 442, 6: 511, 7: 548, 8: 470}
COHORT_FILE = SHIPPED / "cohort-v1.jsonl"


def load_cohort(path: Path | None = None) -> Bank:
    return load_bank(path or COHORT_FILE)
