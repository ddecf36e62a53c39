"""The drawings of a plan."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from examgen.sizing_figures import detectable_figure, power_figure
from examgen.sizing_plan import curve_rows, detectable, make_plan
from examgen.sizing_section import Contrast, Sizing

SVG = "{http://www.w3.org/2000/svg}"


def test_a_line_a_contrast_and_one_for_each_other_table() -> None:
    contrasts = (Contrast(name="plan", better=0.1, worse=0.025), Contrast(name="seen", counts=(16, 1, 168)))
    plan = make_plan(Sizing(contrasts=contrasts), 168)
    drawing = ElementTree.fromstring(power_figure(plan, curve_rows(plan)))
    assert len(drawing.findall(f"{SVG}polyline")) == 4
    assert len(drawing.findall(f"{SVG}circle")) == 2
    for line in drawing.findall(f"{SVG}polyline"):
        points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        assert points == sorted(points)
        assert all(0 <= x <= 900 and 0 <= y <= 430 for x, y in points)


def test_needs_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    contrasts = (Contrast(name="large", better=0.3, worse=0.0), Contrast(name="small", better=0.02, worse=0.015))
    plan = make_plan(Sizing(contrasts=contrasts))
    drawing = ElementTree.fromstring(power_figure(plan, curve_rows(plan, [6, 30, 1000, 20000])))
    xs = [float(p.split(",")[0]) for p in drawing.findall(f"{SVG}polyline")[0].attrib["points"].split()]
    assert (xs[1] - xs[0]) / (xs[3] - xs[0]) > 0.15


def test_smallest_gains_have_a_line_a_share() -> None:
    found = detectable(make_plan(Sizing(contrasts=(Contrast(name="p", better=0.1, worse=0.0),))), [100, 500])
    drawing = ElementTree.fromstring(detectable_figure(found))
    assert len(drawing.findall(f"{SVG}polyline")) == 5
