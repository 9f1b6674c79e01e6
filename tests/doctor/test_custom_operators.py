"""Whose operator a conversion does not know: ONNX's own names are a closed set, whatever else stands in a model is somebody's."""

from __future__ import annotations

import pytest

from doctor.api import report

PARSER = "E19010: No parser is registered for Op [/blocks.0/n, optype [{}]].\n"


@pytest.mark.parametrize("optype", ["ai.onnx::11::PlughFlashMix", "ai.onnx::13::EfficientNMS_TRT", "mmdeploy::1::TopKPlugh", "ai.onnx::11::AddCust"])
def test_an_operator_that_onnx_does_not_have_wants_its_package(optype: str) -> None:
    """No opset and no newer CANN brings it; all of them are named."""
    root = report(PARSER.format(optype) + PARSER.format("ai.onnx::11::XyzzyMerged"))["findings"][0]
    assert "custom operator" in root["title"]["en"]
    assert "XyzzyMerged" in root["cause"]["en"]
    first, then = [fix for fix in root["fixes"] if fix["goal"] == "resolve"][:2]
    assert "operator package" in first["title"]["en"]
    assert then["title"]["en"].startswith("Convert the model without them")


@pytest.mark.parametrize("optype", ["ai.onnx::11::Conv", "ai.onnx::16::GridSample", "ai.onnx::11::grid_sampler", "ai.onnx::18::Mish"])
def test_what_onnx_has_or_gets_with_a_newer_opset_does_not(optype: str) -> None:
    assert "for the custom operator" not in report(PARSER.format(optype))["findings"][0]["title"]["en"]
