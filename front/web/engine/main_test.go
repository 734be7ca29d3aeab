package engine

import (
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

func TestMain(m *testing.M) { short.Main(m) }
