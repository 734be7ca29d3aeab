package main

import "github.com/ppl-lang/ppl/lang/diag"

// reasons explains why programs of the suite have another result than in stanc.
var reasons = map[string]string{
	"bad/bad_fundef_returntypes4.stan":     "the closing brace is named, where the return is missing, not the head",
	"bad/noninfinite_loop_return.stan":     "the closing brace is named, where the return is missing, not the head",
	"bad/noninfinite_loop_return2.stan":    "the closing brace is named, where the return is missing, not the head",
	"bad/noninfinite_loop_return3.stan":    "the closing brace is named, where the return is missing, not the head",
	"bad/noninfinite_loop_return4.stan":    "the closing brace is named, where the return is missing, not the head",
	"bad/new/ill-formed-statement26.stan":  "the place where the semicolon is missing is named, not the token after it",
	"bad/err-decl-double-params.stan":      "the place where the semicolon is missing is named, not the token after it",
	"bad/functions-bad25.stan":             "the place where the semicolon is missing is named, not the token after it",
	"bad/functions-bad26.stan":             "the place where the semicolon is missing is named, not the token after it",
	"bad/lang/unterminated_comment.stan":   "the beginning of the comment is named, not the end of the text",
	"bad/new/type-size-bad62.stan":         "the place where the bracket is missing is named, not the token after it",
	"bad/removed_features/real-bools.stan": "conditions of statements may be real, as in Stan before 2.34",
	"bad/new/ill-formed-constraint2.stan":  "a comma is taken to promise another bound, so that the end of the text is wrong, not the comma",
	"bad/new/ill-formed-constraint5.stan":  "a comma is taken to promise another bound, so that the end of the text is wrong, not the comma",
}

// columns describes, for each code, in which column our first error is if it differs from stanc's.
var columns = map[diag.Code]string{
	diag.MissingSemicolon:    "where the semicolon belongs, not the token after it",
	diag.BadNumber:           "the whole of what looks like a number, not the character that does not fit",
	diag.OldArraySyntax:      "the sizes after the name, not the place before them",
	diag.NotAStatement:       "the whole expression, not what follows it",
	diag.TargetMisuse:        "the word that is misused, not the token after it",
	diag.BadSize:             "the sizes, or the type that lacks them, not the first token that does not fit",
	diag.BoundNotAllowed:     "the bound, not the bracket before it",
	diag.InitNotAllowed:      "the value, not the sign before it",
	diag.BoundMismatch:       "the bound, not the declaration",
	diag.Redeclared:          "the second of the names, not the whole function or the loop",
	diag.NotAVariable:        "the name, not the expression around it",
	diag.TypeMismatch:        "the value of the wrong type, not the whole statement",
	diag.BadArguments:        "the argument that does not fit, or the function's name if their number is wrong, not the whole call",
	diag.AmbiguousCall:       "the function's name, not the whole call or statement",
	diag.BadOperand:          "the operator, not the whole expression",
	diag.TooManyIndices:      "the first index too many, not the whole expression",
	diag.MixedTypes:          "the branch of the other type, not the whole expression",
	diag.Bar:                 "the function's name, not an argument",
	diag.BadFunctor:          "the function that is passed, not the whole call",
	diag.NoTruncation:        "the truncation, not the whole statement",
	diag.MultiIndexAssign:    "the index that is too much, not the whole statement",
	diag.MisplacedReturn:     "the value that is returned, not the whole statement",
	diag.TildeSuffix:         "the name of the distribution, not the whole statement",
	diag.UnknownDistribution: "the name of the distribution, not the whole statement",
	diag.ReadsAssigned:       "the index, not the whole statement",
	diag.StoredTwice:         "the second place, not the whole statement",
	diag.FunctionRedefined:   "the name of the function, not the whole definition",
	diag.DensityForm:         "the parameter of the wrong type, not the whole definition",
	diag.NoMember:            "the number of the member, not the whole expression",
	diag.BadLoop:             "the condition or range, where parentheses are missing",
	diag.UnexpectedToken:     "the token that does not fit, where stanc's grammar had taken it for something else",
	diag.NotAFunction:        "the beginning of what is no function",
	diag.UnknownBlock:        "the name of the block as a whole",
}
