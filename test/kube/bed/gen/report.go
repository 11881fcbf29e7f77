package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const maxShown = 4

// report sorts what was seen into constants and the rest.
func (o *observer) report() (map[string]map[string]json.RawMessage, []conditional) {
	constants := map[string]map[string]json.RawMessage{}
	rest := []conditional{}
	o.each(func(owner, name string, s *sighting) {
		value, isConstant := only(s.values())
		isConstant = isConstant && value != currentTime
		if isConstant && value != "" {
			if constants[owner] == nil {
				constants[owner] = map[string]json.RawMessage{}
			}
			constants[owner][name] = json.RawMessage(value)
		}
		if len(s.values()) > 1 || len(s.changed) > 0 || value == currentTime {
			rest = append(rest, s.describe(owner, name))
		}
	})
	return constants, rest
}

// everything lists all fields that did not stay as they were.
func (o *observer) everything() []conditional {
	list := []conditional{}
	o.each(func(owner, name string, s *sighting) {
		if value, single := only(s.values()); len(s.changed) > 0 || len(s.values()) > 1 || (single && value != "") {
			list = append(list, s.describe(owner, name))
		}
	})
	return list
}

func (o *observer) each(visit func(owner, name string, s *sighting)) {
	for _, owner := range sortedKeys(o.seen) {
		for _, name := range sortedKeys(o.seen[owner]) {
			visit(owner, name, o.seen[owner][name])
		}
	}
}

// requireCoverage stops when a struct that defaulting could reach, or a field of it, was seen too rarely for a verdict.
func (o *observer) requireCoverage(reachable []string) {
	for _, owner := range reachable {
		if o.seen[owner] == nil {
			panic(owner + " was never sampled")
		}
	}
	o.each(func(owner, name string, s *sighting) {
		total := 0
		for _, times := range s.values() {
			total += times
		}
		if total < minSightings {
			panic(fmt.Sprintf("%s.%s was absent in %d samples only", owner, name, total))
		}
	})
}

func (s *sighting) describe(owner, name string) conditional {
	return conditional{Type: owner, Field: name, Values: s.values(), Where: s.places(), Why: s.why()}
}

func (s *sighting) values() map[string]int {
	total := map[string]int{}
	for _, values := range s.absent {
		for value, times := range values {
			total[value] += times
		}
	}
	return total
}

func (s *sighting) why() string {
	reasons := []string{}
	if len(s.values()) > 1 {
		reason := "depends on where the struct is"
		for _, values := range s.absent {
			if len(values) > 1 {
				reason = "depends on other fields"
			}
		}
		reasons = append(reasons, reason)
	}
	if len(s.changed) > 0 {
		reasons = append(reasons, "a present value is changed")
	}
	return strings.Join(reasons, "; ")
}

// places lists where something other than nothing was seen, each with its values.
func (s *sighting) places() []string {
	lines := []string{}
	for _, place := range sortedKeys(s.absent) {
		values := s.absent[place]
		if value, single := only(values); single && value == "" {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s", place, show(values)))
	}
	for _, place := range sortedKeys(s.changed) {
		lines = append(lines, place+": changed")
	}
	return lines
}

// show lists the values, unless they are many: then they follow other fields, and the random ones say nothing.
func show(values map[string]int) string {
	shown := []string{}
	if _, ok := values[""]; ok {
		shown = append(shown, "nothing")
	}
	if len(values) > maxShown {
		return strings.Join(append(shown, "different values"), " | ")
	}
	for _, value := range sortedKeys(values) {
		if value != "" {
			shown = append(shown, value)
		}
	}
	return strings.Join(shown, " | ")
}

func only(values map[string]int) (string, bool) {
	for value := range values {
		return value, len(values) == 1
	}
	return "", false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
