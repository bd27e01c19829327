"""Where items come from: the frozen banks, and the code that builds, checks, audits and reviews them."""
