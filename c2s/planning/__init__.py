"""What a run will ask, before anything is asked: the plan, its estimate and the checks of its requests."""
