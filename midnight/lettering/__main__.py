from midnight.lettering.font import FILE, build

font = build()
font.flavor = "woff2"
font.save(FILE)
