"""Generated and mutated documents through every reader; `bench formats` does more."""

import os
from pathlib import Path
from random import Random

from registry.bench.synthetic.mutations import mutations
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Parsed, Rejected
from registry.formats.html.links import parse_links
from registry.formats.semantic import semantic_hash

URL = "https://site.example/"
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.json"))
PAGE = b"""<!doctype html><html lang=en><head><title>Hens</title>
<link rel="ai-actions" href="/.well-known/ai-actions.json"><base href="/shop/"></head>
<body data-awas-context="shop"><form toolname=order tooldescription="Order eggs">
<label>How many <input name=count type=number required></label>
<select name=size><option value=l>Large<option>Small</select></form>
<script>navigator.modelContext.registerTool({name: "stop", description: `Stop`,
inputSchema: {type: 'object', properties: {why: {type: "string"}}}, execute() {}});
</script></body></html>"""
COUNT = 5_000 if os.environ.get("CI") else 600


def test_whatever_is_done_to_a_document_it_is_parsed_or_rejected() -> None:
    seeds = [PAGE, *(path.read_bytes() for path in SAMPLES)]
    for body in mutations(seeds, COUNT, Random(7)):
        parse_links(body, url=URL)
        for result in (parse_document(body, url=URL), parse_page(body, url=URL)):
            if isinstance(result, Parsed):
                assert len(semantic_hash(result.document.site)) == 32
            else:
                assert isinstance(result, Rejected)
                assert result.problem.detail
                assert result.problem.fix
