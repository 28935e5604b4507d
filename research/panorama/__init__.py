"""The panorama: 68 public tables, seven kinds of noise, and how the classifiers do on them."""
