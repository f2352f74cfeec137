package process

import (
	"encoding/json"
	"fmt"

	"github.com/weighstone/weighstone"
)

// A Config is what a master tells a worker: the last argument of its command
// line, as JSON.
type Config struct {
	Variant   string // as the table names the architecture
	Engine    string // which server the worker runs
	Master    int    // process id
	Slot      int    // number on the scoreboard
	Position  int    // among the workers that there are at a time, from 0
	Listeners int    // how many listening sockets there are
	Conn      string // which descriptor is a connection to serve instead: passed, stdio, or empty
	Files     int    // how many descriptors of the application there are
	FirstFile int    // the first of them
	Threads   int    // GOMAXPROCS; 0 leaves it
	Taken     *taken // what another program has begun as this process; nil for a start

	Workers int // of the engine
	Limits  weighstone.Limits
	Knobs   weighstone.Knobs
}

func (c *Config) argument() (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("describe worker: %w", err)
	}
	return string(b), nil
}

func parseConfig(arg string) (Config, error) {
	var c Config
	if err := json.Unmarshal([]byte(arg), &c); err != nil {
		return c, fmt.Errorf("read what the master says: %w", err)
	}
	return c, nil
}
