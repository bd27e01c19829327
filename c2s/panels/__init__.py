"""Panels: which parents meet which arms, and which pair of arms makes the joint table. One short file each."""
