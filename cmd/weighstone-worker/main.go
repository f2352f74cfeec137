// Command weighstone-worker is one process of an architecture whose processes
// have one connection at a time. The master starts it, for some anew for each
// connection; so it is kept small: it links blocking engines alone, and no
// database, interpreter, command line parser or benchmark. For what it lacks it
// becomes the main program.
package main

import (
	"fmt"
	"os"

	"github.com/weighstone/weighstone/cmd/internal/worker"
)

func main() {
	if err := worker.Run(os.Args[1:], worker.Engines(), worker.Elsewhere, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "weighstone-worker: %v\n", err)
		os.Exit(1)
	}
}
