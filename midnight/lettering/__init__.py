"""Our own capitals, for headings and buttons: Art Deco, one line throughout, drawn by rule and compass.

`python -m midnight.lettering` draws them into `static/midnight/deco.woff2`, which is what the site serves; a test holds
the file to the drawing. Small letters are smaller capitals. Strokes overlap freely; the font says so.
"""
