package compile

// Decided are programs that no graph can hold, with their data in JSON.
func Decided(yield func(name, text, json string) bool) {
	for _, c := range decided {
		json := c.json
		if json == "" {
			json = "{}"
		}
		if !yield(c.name, c.text, json) {
			return
		}
	}
}
