package experiment

import "testing"

// TestFilesVsDBDesign: at each load all places are asked for the same files,
// whose content is known, and the published ratio stands where there is one.
func TestFilesVsDBDesign(t *testing.T) {
	l := testLab(t, options(t))
	d, err := designFilesVsDB(l)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.units) != len(surfClients(false)) {
		t.Errorf("%d units", len(d.units))
	}
	for _, unit := range d.units {
		var mean []float64
		for _, c := range unit {
			p, err := c.plan("http://127.0.0.1:80")
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			sum := 0.0
			for i, class := range p.Classes() {
				ask := p.Ask(i)
				if ask.Expect.Length < 1024 || ask.Expect.Sum == nil {
					t.Errorf("%s: nothing is known of %s", c.name, ask.Target)
				}
				sum += class.Weight * float64(ask.Expect.Length)
			}
			mean = append(mean, sum)
		}
		if mean[0] < 1 || mean[1] != mean[0] || mean[2] != mean[0] {
			t.Errorf("%s: mean sizes %v", unit[0].name, mean)
		}
	}
	for _, c := range d.compare {
		long := c.a.handler != "files" && c.b.handler != "files" // URLs, of which nothing was published
		if want := c.a.load.clients <= 24 && !long; want != (c.published > 2) {
			t.Errorf("%s: published %v", c.name, c.published)
		}
	}
}
