DIFFERENT: dict[tuple[str, str], str] = {}
