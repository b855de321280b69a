// A library wants a source. What counts is the header that is compiled with it.
