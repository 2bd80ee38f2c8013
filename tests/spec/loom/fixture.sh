# shellcheck shell=sh
# The tree of the loom's spec files, made in the current folder. Clock and ids are fixed.
#
#     r001 ── a7x2 ─┬─ b3k9 ── e6p4 ── f7q8        thread marie, "Marie Character Study"
#                   ├─ c4m2 ── g8r2
#                   └─ d5n7
#     x0a1 ── x9y3                                 thread draft, "earlier draft"
#
# Collab (a model with loom_aware, loom_write, doc_read) is at a7x2, the person ada at c4m2.
# Sub is the subject model. a7x2 has a summary, two annotations and a link to a document.
heddle init >/dev/null
heddle agent add ada --kind human >/dev/null
heddle agent add Collab --kind model --model offline:echo --permissions loom_aware,loom_write,doc_read >/dev/null
heddle agent add Sub --kind model --model offline:echo >/dev/null
mkdir -p .leslie/threads/marie/artifacts
cat >'.leslie/threads/marie/character notes.md' <<'DOC'
# Character notes

Marie is the eldest of three.

## Marie's Core Motivation

She wants to be forgiven.
By whom, she does not know.

## Setting

A house at the end of the lane.
DOC
heddle log append marie >/dev/null <<'LOG'
{"kind":"loom_mark","at":1794743400000,"actor":"ada","payload":{"mark":"tree","title":"Marie Character Study","mode":"dialogue"}}
{"kind":"ai_message","at":1794743700000,"actor":"ada","payload":{"role":"user","content":"Let us study Marie.","context_ref":"default","node":{"author":"ada","id":"01KA0000000000000000000R01","local_id":"r001","parent":null,"via":"say"}}}
{"kind":"ai_message","at":1794743820000,"actor":"ada","payload":{"role":"user","content":"Why does Marie hesitate? Her reluctance seems older than the quarrel.","context_ref":"default","node":{"author":"ada","id":"01KA0000000000000000000A72","local_id":"a7x2","parent":"r001","via":"say"}}}
{"kind":"ai_message","at":1794743830000,"actor":"Sub","payload":{"role":"assistant","content":"Building on the childhood trauma theme, Marie fears that speaking ends love.","context_ref":"default","node":{"author":"Sub","local_id":"b3k9","parent":"a7x2","via":"continue"}}}
{"kind":"ai_context_operation","at":1794743840000,"actor":"Sub","payload":{"context_ref":"b-c4m2","op_id":"f1","operation":{"type":"fork","reason":"manual","from":{"lane":"default","seq":2}}}}
{"kind":"ai_message","at":1794743840000,"actor":"Sub","payload":{"role":"assistant","content":"She is protecting someone.","context_ref":"b-c4m2","node":{"author":"Sub","local_id":"c4m2","parent":"a7x2","via":"continue"}}}
{"kind":"ai_context_operation","at":1794743850000,"actor":"ada","payload":{"context_ref":"b-d5n7","op_id":"f2","operation":{"type":"fork","reason":"manual","from":{"lane":"default","seq":2}}}}
{"kind":"ai_message","at":1794743850000,"actor":"ada","payload":{"role":"user","content":"What if it is only tiredness?","context_ref":"b-d5n7","node":{"author":"ada","local_id":"d5n7","parent":"a7x2","via":"say"}}}
{"kind":"ai_message","at":1794743860000,"actor":"ada","payload":{"role":"user","content":"Go on with the fear.","context_ref":"default","node":{"author":"ada","local_id":"e6p4","parent":"b3k9","via":"say"}}}
{"kind":"ai_message","at":1794743870000,"actor":"Sub","payload":{"role":"assistant","content":"Then silence is her gift.","context_ref":"default","node":{"author":"Sub","local_id":"f7q8","parent":"e6p4","via":"continue"}}}
{"kind":"ai_message","at":1794743880000,"actor":"ada","payload":{"role":"user","content":"Whom?","context_ref":"b-c4m2","node":{"author":"ada","local_id":"g8r2","parent":"c4m2","via":"say"}}}
{"kind":"summary","at":1794743880000,"actor":"Sub","payload":{"target":{"node":"a7x2"},"text":"Marie's reluctance stems from her childhood, not the immediate conflict.","model":"offline:echo"}}
{"kind":"loom_annotation","at":1794743885000,"actor":"Collab","payload":{"agent":"Collab","kind":"model","node":"a7x2","text":"Key turning point: the question changes."}}
{"kind":"loom_annotation","at":1794743886000,"actor":"ada","payload":{"agent":"ada","kind":"human","node":"a7x2","text":"Check against chapter two."}}
{"kind":"loom_link","at":1794743887000,"actor":"ada","payload":{"agent":"ada","node":"a7x2","target":{"type":"doc","doc":"character notes","section":"motivation"}}}
{"kind":"ai_context_operation","at":1794743890000,"actor":"Collab","payload":{"agent":"Collab","context_ref":"default","op_id":"s1","operation":{"type":"switch","reason":"manual","meta":{"node":"a7x2","kind":"model"}}}}
{"kind":"ai_context_operation","at":1794743895000,"actor":"ada","payload":{"agent":"ada","context_ref":"b-c4m2","op_id":"s2","operation":{"type":"switch","reason":"manual","meta":{"node":"c4m2","kind":"human"}}}}
LOG
heddle log append draft >/dev/null <<'LOG'
{"kind":"loom_mark","at":1794743400000,"actor":"ada","payload":{"mark":"tree","title":"earlier draft"}}
{"kind":"ai_message","at":1794743410000,"actor":"ada","payload":{"role":"user","content":"An older attempt.","context_ref":"default","node":{"author":"ada","local_id":"x0a1","parent":null,"via":"say"}}}
{"kind":"ai_message","at":1794743420000,"actor":"ada","payload":{"role":"user","content":"The same scene, from the mother's side.","context_ref":"default","node":{"author":"ada","local_id":"x9y3","parent":"x0a1","via":"say"}}}
LOG
heddle tree draft --summary >/dev/null # from here on it is a tree, not only a log
