// Evaluates alerting rules with Prometheus' own rule and query engines. Reads cases as JSON lines on standard input and
// writes, for each, the alerts that fire at its end.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type question struct {
	Rules []rule `json:"rules"`
	// Series in the notation of promtool: `name{label="value"} 0+1x60`, one value per minute.
	Series  []string `json:"series"`
	Minutes int      `json:"minutes"`
}

type firing struct {
	Alert       string            `json:"alert"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fail(err)
		}
		answer, err := evaluate(asked)
		if err != nil {
			fail(err)
		}
		if err := out.Encode(answer); err != nil {
			fail(err)
		}
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func evaluate(asked question) ([]firing, error) {
	opts := promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true}
	loader, err := promqltest.NewLazyLoader("load 1m\n  "+strings.Join(asked.Series, "\n  ")+"\n", opts)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	alerting := make([]*rules.AlertingRule, 0, len(asked.Rules))
	for _, r := range asked.Rules {
		built, err := build(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Alert, err)
		}
		alerting = append(alerting, built)
	}
	query := rules.EngineQueryFunc(loader.QueryEngine(), loader.Queryable())
	for minute := 0; minute <= asked.Minutes; minute++ {
		at := time.Unix(int64(minute)*60, 0).UTC()
		loader.WithSamplesTill(at, func(e error) { err = e })
		if err != nil {
			return nil, err
		}
		for _, r := range alerting {
			if _, err := r.Eval(context.Background(), 0, at, query, &url.URL{}, 0); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	}
	return firingOf(alerting), nil
}

func build(r rule) (*rules.AlertingRule, error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
	if err != nil {
		return nil, err
	}
	var hold model.Duration
	if r.For != "" {
		if hold, err = model.ParseDuration(r.For); err != nil {
			return nil, err
		}
	}
	return rules.NewAlertingRule(
		r.Alert, expr, time.Duration(hold), 0,
		labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "",
		true, slog.New(slog.DiscardHandler),
	), nil
}

func firingOf(alerting []*rules.AlertingRule) []firing {
	found := []firing{}
	for _, r := range alerting {
		for _, alert := range r.ActiveAlerts() {
			if alert.State == rules.StateFiring {
				found = append(found, firing{r.Name(), alert.Labels.Map(), alert.Annotations.Map()})
			}
		}
	}
	sort.Slice(found, func(i, j int) bool { return fmt.Sprint(found[i]) < fmt.Sprint(found[j]) })
	return found
}
