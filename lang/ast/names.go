package ast

import (
	"fmt"
	"slices"
)

// Names has the names of a program that is being rewritten. It makes new ones.
type Names map[string]bool

// NamesOf returns the names in a program.
func NamesOf(f *File) Names {
	names := Names{}
	Inspect(f, func(n Node) bool {
		switch n := n.(type) {
		case *Ident:
			names[n.Name] = true
		case *VarExpr:
			names[n.Name] = true
		}
		return true
	}, nil)
	return names
}

// New returns and adds a name that is not there: stem, or stem with a number.
func (names Names) New(stem string) string {
	name := stem
	for i := 1; names[name]; i++ {
		name = fmt.Sprintf("%s_%d", stem, i)
	}
	names[name] = true
	return name
}

// ChangeBlock replaces the statements of a block by what change makes of them. If the program has
// no such block and change returns statements, the block is added in its place. The block and the
// list of blocks must be the caller's own.
func (f *File) ChangeBlock(kind BlockKind, change func(ss []Stmt) []Stmt) {
	at := slices.IndexFunc(f.Blocks, func(b *Block) bool { return b.Kind >= kind })
	if at < 0 {
		at = len(f.Blocks)
	}
	if at < len(f.Blocks) && f.Blocks[at].Kind == kind {
		f.Blocks[at].Stmts = change(f.Blocks[at].Stmts)
	} else if ss := change(nil); ss != nil {
		f.Blocks = slices.Insert(f.Blocks, at, &Block{Kind: kind, Stmts: ss})
	}
}
