package lang

// StanVersion is the version of Stan whose language this is.
const StanVersion = "2.40"
