package main

import (
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file has the words of the command line for settings. Errors and findings of other packages
// advise settings as "name" or "name=value" (see diag.Diagnostic and diagnose.Finding), and each
// front end has other words for them.

// settingWords has the words for settings that are not simply a flag of the same name. DIR is
// replaced by the folder of the fit.
var settingWords = map[string]string{
	"upgrade":           "`ppl fmt --upgrade` rewrites the program",
	"legacy":            "`--legacy` reads it as it is",
	"init=pathfinder":   "ppl run --init pathfinder",
	"new-levels=sample": "ppl predict DIR --new-levels sample",
	"moment-match":      "ppl loo DIR --moment-match",
	"exact":             "ppl loo DIR --exact",
	"cv":                "ppl cv DIR",
	"generate":          "ppl generate",
	"report-bug":        "ppl report-bug MODEL --data FILE",
	"vars":              "ppl report DIR --vars",
	"size":              "ppl report DIR --size",
}

// wordsFor returns the words for settings. dir is the folder of the fit; if it is "", the words
// have DIR.
func wordsFor(settings []string, dir string) []string {
	if dir == "" {
		dir = "DIR"
	}
	var words []string
	for _, s := range settings {
		name, value, given := strings.Cut(s, "=")
		switch {
		case name == "by": // it is about the same fit
			dir += " --by " + value
		case settingWords[s] != "":
			words = append(words, settingWords[s])
		case given:
			words = append(words, "--"+name+" "+value)
		default:
			words = append(words, "--"+name)
		}
	}
	for i := range words {
		words[i] = strings.Replace(words[i], "DIR", dir, 1)
	}
	return words
}

// worded returns findings whose advice names settings by flags of the command line.
func worded(findings []diagnose.Finding, dir string) []diagnose.Finding {
	out := append([]diagnose.Finding{}, findings...)
	for i := range out {
		f := &out[i]
		if words := wordsFor(f.Settings, dir); words != nil {
			f.Advice, f.Settings = f.Advice+" Options: "+strings.Join(words, ", ")+".", nil
		}
	}
	return out
}

// wordedList returns diagnostics whose help names settings by flags of the command line.
func wordedList(list diag.List) diag.List {
	return list.Worded(func(setting string) string { return strings.Join(wordsFor([]string{setting}, ""), " ") })
}
