// Package grammar has the arguments of the executables that CmdStan makes of
// models, as one table, and all that is read off it.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	argument.go  Argument: a node of the table
//	table.go     Table: the arguments, with types, ranges, defaults, help
//	parse.go     Parse: a command line to a Config
//	config.go    Config: what was chosen; by path, as comments, as JSON
//	help.go      what help, help-all and a wrong command line print
//
// A command line is a walk through a tree: a group's name opens the group
// (adapt), a choice's value opens the group of that value (engine=nuts), and
// name=value sets a value. Arguments of a group directly follow it; a word that
// is none of them belongs to a group further out.
//
// The samplers of this program that CmdStan has not stand beside its own as
// further engines, their options taken from the table of package sampler.
package grammar
