// Package grammar has a table of the arguments of CmdStan's executables, and parses, prints and
// explains them by this table.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	argument.go  Argument: a node of the table
//	table.go     Table: the arguments, with types, ranges, defaults, help
//	parse.go     Parse: a command line to a Config
//	config.go    Config: the arguments by path, as comments, as JSON
//	help.go      the output of help, help-all and wrong command lines
//
// A command line is a walk through a tree. The name of a group opens the group (adapt), the value
// of a choice opens the value's group (engine=nuts), and name=value sets a value. Arguments of a
// group directly follow it. Any other word belongs to an outer group.
//
// Samplers of ppl that CmdStan does not have are further engines. Their options come from the table
// of package sampler.
package grammar
