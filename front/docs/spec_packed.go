//go:build packed

package docs

import (
	"context"

	"github.com/ppl-lang/ppl/internal/packed"
)

// Spec returns the specification of the language, in Markdown.
func Spec(context.Context) ([]byte, error) { return packed.Folder("").ReadFile("spec.md") }
