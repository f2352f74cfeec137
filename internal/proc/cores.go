package proc

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPUs returns the cores that this process may run on, in ascending order.
func CPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(unix.Getpid(), &set) != nil {
		return nil
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// CoreTime returns for how long the cores together have been at work for
// anybody since the system started, the time that a hypervisor gave to others
// included. The kernel counts it in ticks of 10 ms, by sampling.
func CoreTime(cpus []int) (time.Duration, error) {
	const idle, iowait = 3, 4
	return coreTime(cpus, func(column int) bool { return column != idle && column != iowait })
}

// Steal returns for how long the hypervisor gave the cores together to others
// although there was work, since the system started.
func Steal(cpus []int) (time.Duration, error) {
	const steal = 7
	return coreTime(cpus, func(column int) bool { return column == steal })
}

func coreTime(cpus []int, counts func(column int) bool) (time.Duration, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read how busy the cores are: %w", err)
	}
	var sum time.Duration
	found := 0
	for line := range bytes.Lines(raw) {
		// cpuN user nice system idle iowait irq softirq steal ... (proc_stat(5))
		words := bytes.Fields(line)
		if len(words) < 9 || !bytes.HasPrefix(words[0], []byte("cpu")) {
			continue
		}
		cpu, err := strconv.Atoi(string(words[0][len("cpu"):]))
		if err != nil || !slices.Contains(cpus, cpu) {
			continue
		}
		found++
		for i, word := range words[1:9] {
			if counts(i) {
				sum += time.Duration(parse(word)) * tick
			}
		}
	}
	if found != len(cpus) {
		return 0, fmt.Errorf("read how busy the cores are: /proc/stat has %d of the cores %v", found, cpus)
	}
	return sum, nil
}
