package compile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
)

func TestZZTry(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("PPL_TRY")) {
		text, _ := os.ReadFile(f)
		first, _, _ := strings.Cut(string(text), "\n")
		set, err := data.ParseJSON(f, []byte(strings.TrimPrefix(first, "// DATA ")))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(4) {
			rep := contend(string(text), f, set, seed, 2)
			fmt.Println(f, "compared", rep.compared, "unsupported", rep.unsupported, "rejected", rep.rejected, "stats", rep.stats)
			if rep.wrong != nil {
				fmt.Println(rep.wrong.kind, rep.wrong.text)
				break
			}
		}
		_ = bind.Options{}
	}
}
