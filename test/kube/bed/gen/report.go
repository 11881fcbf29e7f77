package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// report sorts what was seen into constants and the rest.
func (o *observer) report() defaultsReport {
	result := defaultsReport{Defaults: map[string]map[string]json.RawMessage{}, Conditional: []conditional{}}
	for _, owner := range sortedKeys(o.seen) {
		for _, name := range sortedKeys(o.seen[owner]) {
			s := o.seen[owner][name]
			values := s.values()
			constant, isConstant := only(values)
			if isConstant && constant != "" {
				if result.Defaults[owner] == nil {
					result.Defaults[owner] = map[string]json.RawMessage{}
				}
				result.Defaults[owner][name] = json.RawMessage(constant)
			}
			if (isConstant || len(values) == 0) && len(s.changed) == 0 {
				continue
			}
			result.Conditional = append(result.Conditional, conditional{
				Type: owner, Field: name, Values: values, Where: s.places(), Why: s.why(),
			})
		}
	}
	return result
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
		shown := []string{}
		for _, value := range sortedKeys(values) {
			if value == "" {
				value = "nothing"
			}
			shown = append(shown, value)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", place, strings.Join(shown, " | ")))
	}
	for _, place := range sortedKeys(s.changed) {
		lines = append(lines, place+": changed")
	}
	return lines
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
