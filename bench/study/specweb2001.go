package study

// specweb2001 is the study of Zeus under SPECweb99, whose tables a command of
// its own prints: its loads are searches, not cells of this package's kind.
func specweb2001() Study {
	return Study{
		Name:        "specweb99-2001",
		Title:       "SPECweb99, 2001 and 2002: Zeus on machines of IBM and Sun, with and without a cache in the kernel",
		Cite:        "published SPECweb99 results, 2001 and 2002",
		Question:    "How many connections does a server keep at 320 to 400 kbit/s each, and how many more with its cache in the kernel?",
		Unavailable: "not as a report; its tables are printed by weighstone bench specweb99-2001, a command of its own",
	}
}
