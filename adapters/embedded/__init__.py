"""
The local default model: llama.cpp in a child process of our own, and what makes a small model useful.

Above: the model port. Below: `child`, the only module that imports the native package; the server in it
is reached through the ordinary chat adapter, which the container passes in.

`fetch` gets the weights, `server` owns the child, `lazy` starts it with the first reply, `model` holds
the two ways to work with tools: guided (a plan of ours, the model adds a sentence) and by JSON schema.
"""
