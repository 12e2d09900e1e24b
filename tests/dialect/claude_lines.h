/* SPDX-License-Identifier: MIT
 * Lines of Claude Code's stream-json for tests; ' stands for ". */
#ifndef TESTS_DIALECT_CLAUDE_LINES_H
#define TESTS_DIALECT_CLAUDE_LINES_H

#define TAIL "'session_id':'s','parent_tool_use_id':null,'uuid':'u0'}\n"
#define INIT                                                                                       \
    "{'type':'system','subtype':'init','session_id':'s','model':'opus','tools':['A','B']}\n"

#define EVENT(event) "{'type':'stream_event','event':" event "," TAIL
#define MESSAGE(id)                                                                                \
    EVENT("{'type':'message_start','message':{'id':'" id                                           \
          "','model':'opus','content':[],'usage':{'input_tokens':7,'output_tokens':1}}}")
#define BLOCK(index, block)                                                                        \
    EVENT("{'type':'content_block_start','index':" #index ",'content_block':" block "}")
#define TEXT_BLOCK(index) BLOCK(index, "{'type':'text','text':''}")
#define TOOL_BLOCK(index, id)                                                                      \
    BLOCK(index, "{'type':'tool_use','id':'" id "','name':'Bash','input':{}}")
#define DELTA(index, delta)                                                                        \
    EVENT("{'type':'content_block_delta','index':" #index ",'delta':" delta "}")
#define TEXT(index, text) DELTA(index, "{'type':'text_delta','text':'" text "'}")
#define ARGS(index, text) DELTA(index, "{'type':'input_json_delta','partial_json':'" text "'}")
#define STOP(index) EVENT("{'type':'content_block_stop','index':" #index "}")
#define MESSAGE_DELTA(reason)                                                                      \
    EVENT("{'type':'message_delta','delta':{'stop_reason':'" reason                                \
          "'},'usage':{'output_tokens':5,'cache_read_input_tokens':3}}")
#define MESSAGE_STOP EVENT("{'type':'message_stop'}")
#define ABANDONED(id, from)                                                                        \
    "{'type':'stream_event','event':{'type':'message_stop'},'abandoned_blocks':"                   \
    "{'api_message_id':'" id "','from_block_index':" #from "}," TAIL

#define LINE(id, block, more)                                                                      \
    "{'type':'assistant','message':{'id':'" id                                                     \
    "','model':'opus','role':'assistant','content':[" block                                        \
    "],'stop_reason':null,'usage':{'output_tokens':1}}," more TAIL
#define SAID(id, text) LINE(id, "{'type':'text','text':'" text "'}", "")
#define CALLED(id, tool, input)                                                                    \
    LINE(id, "{'type':'tool_use','id':'" tool "','name':'Bash','input':" input "}", "")
#define RETURNED(tool, content)                                                                    \
    "{'type':'user','message':{'role':'user','content':[{'type':'tool_result','tool_use_id':"      \
    "'" tool "','content':" content "}]}," TAIL
#define RESULT(fields)                                                                             \
    "{'duration_ms':9,'type':'result','num_turns':1,'total_cost_usd':0.5,"                         \
    "'usage':{'input_tokens':7,'output_tokens':5}," fields "," TAIL
#define SUCCESS(text) RESULT("'subtype':'success','is_error':false,'result':'" text "'")

/* A text block that streams in two pieces and is committed. */
#define SAYS(id, index, one, two)                                                                  \
    TEXT_BLOCK(index) TEXT(index, one) TEXT(index, two) SAID(id, one two) STOP(index)

#endif
