//go:build !docs

package docs

// carried returns nil, because this program was built without the tag docs.
func carried() []byte { return nil }
