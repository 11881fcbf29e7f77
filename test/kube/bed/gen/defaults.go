package main

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// How many random objects of each kind are defaulted, and how often a struct must have been among them.
const (
	samples      = 4000
	minSightings = 100
)

type defaultsReport struct {
	Defaults    map[string]map[string]json.RawMessage `json:"defaults"`
	Conditional []conditional                         `json:"conditional"`
	// What the way through the internal version changes after defaulting: not defaults, but visible to users.
	Conversion []conditional `json:"conversion"`
}

// A conditional default is one that a table of constants cannot say.
type conditional struct {
	Type   string         `json:"type"`
	Field  string         `json:"field"`
	Values map[string]int `json:"values"` // what was put there → how often; "" is nothing
	Where  []string       `json:"where"`  // places (kind and path) with the values seen there
	Why    string         `json:"why"`
}

// sighting is what defaulting did to one field of one struct type, over all samples.
type sighting struct {
	absent  map[string]map[string]int // place → value after, for fields that were absent
	changed map[string]bool           // places where a present value was changed
}

type observer struct {
	seen map[string]map[string]*sighting
}

func newObserver() *observer { return &observer{seen: map[string]map[string]*sighting{}} }

// collectDefaults finds out by experiment: a default is unconditional when, in every random object of every served
// kind and in every place where its struct occurs, an absent field came back with the same value.
func collectDefaults(enums enumTable) defaultsReport {
	scheme := newScheme()
	defaulting, conversion := newObserver(), newObserver()
	eachRoot(scheme, func(key string, prototype runtime.Object) {
		f := &filler{random: rand.New(rand.NewSource(1)), enums: enums, fill: 0.5, alloc: 0.9}
		kind := key[strings.LastIndex(key, "/")+1:]
		for range samples {
			before := prototype.DeepCopyObject()
			f.value(reflect.ValueOf(before).Elem(), nil, 0)
			after := before.DeepCopyObject()
			scheme.Default(after)
			defaulting.compare(reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem(), kind)
			if converted := roundTrip(scheme, after); converted != nil {
				conversion.compare(reflect.ValueOf(after).Elem(), reflect.ValueOf(converted).Elem(), kind)
			}
		}
	})
	defaulting.requireCoverage(reachable(scheme))
	constants, rest := defaulting.report()
	return defaultsReport{Defaults: constants, Conditional: rest, Conversion: conversion.everything()}
}

// reachable names the structs with fields that occur in served kinds.
func reachable(scheme *runtime.Scheme) []string {
	table := typeTable{Kinds: map[string]string{}, Types: map[string]typeRow{}}
	eachRoot(scheme, func(_ string, object runtime.Object) { table.add(reflect.TypeOf(object).Elem()) })
	names := []string{}
	for _, name := range sortedKeys(table.Types) {
		if row := table.Types[name]; row.Wire == "" && len(row.Fields) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// roundTrip converts to the internal version and back, as every write does; nil if the random object was nonsense.
func roundTrip(scheme *runtime.Scheme, object runtime.Object) runtime.Object {
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	gv := kinds[0].GroupVersion()
	internal, err := scheme.ConvertToVersion(object.DeepCopyObject(), schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil
	}
	external, err := scheme.ConvertToVersion(internal, gv)
	if err != nil {
		return nil
	}
	return external
}

// compare walks two structs of one type; where is the kind and the JSON path so far.
func (o *observer) compare(before, after reflect.Value, where string) {
	o.fields(modelName(before.Type()), before, after, where)
}

// fields credits the fields of before to the struct named owner: inlined structs belong to the one they are in, for
// that is where the JSON has them, and to themselves.
//
// TypeMeta is left out: defaulting does not touch it, and conversion always does.
func (o *observer) fields(owner string, before, after reflect.Value, where string) {
	if o.seen[owner] == nil {
		o.seen[owner] = map[string]*sighting{}
	}
	for i := range before.NumField() {
		field := before.Type().Field(i)
		name := jsonNameOf(field)
		switch {
		case !field.IsExported() || name == "-" || field.Type == reflect.TypeFor[metav1.TypeMeta]():
		case field.Anonymous && name == "":
			o.fields(owner, before.Field(i), after.Field(i), where)
			o.compare(before.Field(i), after.Field(i), where)
		default:
			o.field(owner, field, before.Field(i), after.Field(i), where)
		}
	}
}

func (o *observer) field(owner string, field reflect.StructField, before, after reflect.Value, where string) {
	name := jsonNameOf(field)
	place := where + "." + name
	if isStruct(before.Type()) {
		o.compare(before, after, place)
		return
	}
	s := o.sighting(owner, name)
	if before.IsZero() {
		count(s.absent, where, valueOf(field, after))
		return
	}
	switch {
	case after.IsZero():
		s.changed[place] = true
	case before.Kind() == reflect.Pointer && isStruct(before.Type().Elem()):
		o.compare(before.Elem(), after.Elem(), place)
	case before.Kind() == reflect.Slice && isStruct(before.Type().Elem()) && before.Len() == after.Len():
		for i := range before.Len() {
			o.compare(before.Index(i), after.Index(i), place+"[]")
		}
	case before.Kind() == reflect.Map && isStruct(before.Type().Elem()) && before.Len() == after.Len():
		for _, key := range before.MapKeys() {
			o.compare(before.MapIndex(key), after.MapIndex(key), place+"{}")
		}
	case !reflect.DeepEqual(before.Interface(), after.Interface()) && encode(before) != encode(after):
		s.changed[place] = true
	}
}

func (o *observer) sighting(owner, name string) *sighting {
	if o.seen[owner][name] == nil {
		o.seen[owner][name] = &sighting{absent: map[string]map[string]int{}, changed: map[string]bool{}}
	}
	return o.seen[owner][name]
}

func count(counts map[string]map[string]int, place, value string) {
	if counts[place] == nil {
		counts[place] = map[string]int{}
	}
	counts[place][value]++
}

// valueOf is what an absent field came back as, in JSON; "" is nothing that JSON would show.
func valueOf(field reflect.StructField, after reflect.Value) string {
	isEmpty := after.Kind() == reflect.Map || after.Kind() == reflect.Slice
	isEmpty = isEmpty && after.Len() == 0 && strings.Contains(field.Tag.Get("json"), "omitempty")
	if after.IsZero() || isEmpty {
		return ""
	}
	if after.Type() == reflect.TypeFor[*metav1.Time]() {
		return currentTime
	}
	return encode(after)
}

// currentTime stands for every time that defaulting writes: it is the time of the request.
const currentTime = "the current time"

func encode(v reflect.Value) string {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err)
	}
	return string(text)
}

// isStruct: a struct that JSON sees as an object with fields.
func isStruct(t reflect.Type) bool {
	_, special := specials[t]
	return t.Kind() == reflect.Struct && !special
}

func jsonNameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
