"""From words to what taggers take: lexicons, templates, attributes, and sequences from Python lists."""
