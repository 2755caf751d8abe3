module.exports = class {
  id() { return 'custom:orders'; }
  async callApi(prompt) {
    if (prompt.includes('ORD-9182')) {
      const call = { name: 'get_order_status', arguments: '{"order_id":"ORD-9182"}' };
      return { output: [{ id: 'c1', type: 'function', function: call }],
               tokenUsage: { total: 12, prompt: 9, completion: 3 } };
    }
    return { output: 'Good morning!' };
  }
};
