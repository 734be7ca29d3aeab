package diag

// Older versions of Stan. Reported by lang.ParseWith in legacy mode.
const (
	// LegacySyntax: the syntax of an older version of Stan is used.
	//
	// It is read as what replaced it, because legacy syntax was asked for.
	// The formatter rewrites the program (setting "upgrade").
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	  real x[N];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  array[N] real x;
	//	}
	LegacySyntax Code = "W0101"
)
