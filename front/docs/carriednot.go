//go:build !docs

package docs

// carried is nothing: this program is built without the tag docs.
func carried() []byte { return nil }
