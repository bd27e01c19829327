"""Panels of Choice2Seq: choosing and building answers to the natural, symbolic and semantic items."""
