package study

// specweb2001 is the study of Zeus under SPECweb99, for which the workload is
// not there yet.
func specweb2001() Study {
	return Study{
		Name:     "specweb99-2001",
		Title:    "SPECweb99, 2001 and 2002: Zeus on machines of IBM and Sun, with and without a cache in the kernel",
		Cite:     "published SPECweb99 results, 2001 and 2002",
		Question: "How many connections does a server keep at 320 to 400 kbit/s each, and how many more with its cache in the kernel?",
		Unavailable: "it takes the workload of SPECweb99 (its mix of static and dynamic pages, and connections that each must keep a " +
			"rate), which weighstone does not have",
	}
}
