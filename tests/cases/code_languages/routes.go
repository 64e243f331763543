// Copyright 2026 Posterna. All rights reserved.

// Package routes plans the way of parcels.
package routes

import (
	"fmt"
	maps "example.org/posterna/maps"
)

// Limit of stops on one way.
const Limit = 40

const (
	// Slow roads.
	slow = iota
	Fast
)

var planner, Spare *Planner

// Stop is a place to stop at.
type Stop struct {
	ID     int `json:"id"`
	x, y   float64
	*maps.Point
}

// Source gives stops.
type Source interface {
	// Next gives one.
	Next(after int) (*Stop, error)
}

type (
	Names  []string
	Weight = float64
)

// Planner finds ways.
type Planner struct{ source Source }

// Plan gives the stops of a way,
// the nearest first.
func (p *Planner) Plan(from Stop) ([]Stop, error) {
	less := func(a, b Stop) bool { return a.x < b.x }
	fmt.Println(less)
	return nil, nil
}

func (Names) first() string { return "" }

func New[T any](source Source) *Planner {
	return &Planner{source: source}
}

func main() {}
