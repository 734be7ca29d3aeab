package diag

// Older versions of Stan. Reported by lang.ParseWith in legacy mode.
const (
	// LegacySyntax: the program uses the syntax of an older version of Stan.
	//
	// ppl reads it as the new form, because you asked for legacy syntax. `ppl fmt` can upgrade
	// the program.
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
