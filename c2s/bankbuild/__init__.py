"""What a maintainer runs once: building, checking and auditing the frozen files of c2s/banks and users' data files."""
